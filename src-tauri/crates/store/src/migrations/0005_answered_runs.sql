-- The execution (number of the claim) in which a run gave its final answer: from then on it hears nothing
-- more, though it may take a moment to end. A program that knows nothing of this leaves it at 0.
ALTER TABLE runs ADD COLUMN answered INTEGER NOT NULL DEFAULT 0;
