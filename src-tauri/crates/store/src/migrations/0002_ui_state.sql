-- What windows want to find again: drafts, positions, where the first run stands. Never secrets.
CREATE TABLE ui_state (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL,
  at    INTEGER NOT NULL
) STRICT;

-- Runs of a person's list are found by the words of their task.
CREATE INDEX runs_ended ON runs (ended_at) WHERE ended_at IS NOT NULL;
