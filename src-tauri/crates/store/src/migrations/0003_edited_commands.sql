-- A person may change a command before they allow it. Whoever asks says whether it would run what they
-- write instead: a program that knows nothing of this leaves `editable` at 0.
ALTER TABLE approvals ADD COLUMN editable INTEGER NOT NULL DEFAULT 0;
ALTER TABLE approvals ADD COLUMN edited TEXT;
