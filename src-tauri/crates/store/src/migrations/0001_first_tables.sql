-- Times are Unix milliseconds. JSON is text.

CREATE TABLE instances (
  id          TEXT PRIMARY KEY,
  kind        TEXT NOT NULL,
  pid         INTEGER NOT NULL,
  claims_runs INTEGER NOT NULL,
  version     TEXT NOT NULL,
  display     TEXT,
  windows     TEXT NOT NULL,
  pids        TEXT NOT NULL,
  started_at  INTEGER NOT NULL,
  gone_at     INTEGER
) STRICT;
CREATE INDEX instances_alive ON instances (kind) WHERE gone_at IS NULL;

CREATE TABLE sessions (
  id         TEXT PRIMARY KEY,
  title      TEXT NOT NULL,
  origin     TEXT NOT NULL,
  metadata   TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX sessions_recent ON sessions (updated_at);

CREATE TABLE tasks (
  id              TEXT PRIMARY KEY,
  session         TEXT NOT NULL REFERENCES sessions (id),
  text            TEXT NOT NULL,
  origin          TEXT NOT NULL,
  idempotency_key TEXT,
  created_at      INTEGER NOT NULL,
  UNIQUE (origin, idempotency_key)
) STRICT;
CREATE INDEX tasks_session ON tasks (session, created_at);

CREATE TABLE runs (
  id            TEXT PRIMARY KEY,
  number        INTEGER NOT NULL UNIQUE,      -- order of queueing; times may tie
  task          TEXT NOT NULL REFERENCES tasks (id),
  session       TEXT NOT NULL REFERENCES sessions (id),
  parent        TEXT REFERENCES runs (id),
  origin        TEXT NOT NULL,
  owner         TEXT REFERENCES instances (id), -- who may write; null when nobody executes it
  claims        INTEGER NOT NULL DEFAULT 0,     -- how often it was claimed: fences an owner's own past
  runner        TEXT REFERENCES instances (id), -- who executed it last
  status        TEXT NOT NULL,
  reason        TEXT,
  limits        TEXT NOT NULL,
  settings      TEXT NOT NULL,
  outcome       TEXT,
  step          INTEGER NOT NULL DEFAULT 0,
  step_label    TEXT,
  pinned        INTEGER NOT NULL DEFAULT 0,
  input         INTEGER NOT NULL DEFAULT 0,
  output        INTEGER NOT NULL DEFAULT 0,
  cache_read    INTEGER NOT NULL DEFAULT 0,
  cache_write   INTEGER NOT NULL DEFAULT 0,
  images        INTEGER NOT NULL DEFAULT 0,
  microdollars  INTEGER NOT NULL DEFAULT 0,
  created_at    INTEGER NOT NULL,
  started_at    INTEGER,
  ended_at      INTEGER
) STRICT;
CREATE INDEX runs_status ON runs (status, number);
CREATE INDEX runs_session ON runs (session, number);
CREATE INDEX runs_task ON runs (task, number);
CREATE INDEX runs_owner ON runs (owner) WHERE owner IS NOT NULL;

CREATE TABLE messages (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  session TEXT NOT NULL REFERENCES sessions (id),
  run     TEXT REFERENCES runs (id),
  role    TEXT NOT NULL,
  content TEXT NOT NULL,
  at      INTEGER NOT NULL
) STRICT;
CREATE INDEX messages_session ON messages (session, id);

CREATE TABLE events (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  topic   TEXT NOT NULL,
  key     TEXT NOT NULL,
  seq     INTEGER NOT NULL,
  at      INTEGER NOT NULL,
  kind    TEXT NOT NULL,
  v       INTEGER NOT NULL,
  payload TEXT NOT NULL,
  UNIQUE (topic, key, seq)
) STRICT;

CREATE TABLE commands (
  id              INTEGER PRIMARY KEY AUTOINCREMENT,
  run             TEXT NOT NULL REFERENCES runs (id),
  kind            TEXT NOT NULL,
  payload         TEXT NOT NULL,
  given_by        TEXT NOT NULL,
  given_at        INTEGER NOT NULL,
  acknowledged_at INTEGER
) STRICT;
CREATE INDEX commands_open ON commands (run, id) WHERE acknowledged_at IS NULL;

CREATE TABLE approvals (
  id           TEXT PRIMARY KEY,
  number       INTEGER NOT NULL UNIQUE,
  run          TEXT NOT NULL REFERENCES runs (id),
  step         INTEGER NOT NULL,
  call         TEXT NOT NULL,
  question     TEXT NOT NULL,
  risk         TEXT NOT NULL,
  irreversible INTEGER NOT NULL,
  state        TEXT NOT NULL,
  note         TEXT,
  answered_by  TEXT,
  asked_at     INTEGER NOT NULL,
  answered_at  INTEGER
) STRICT;
CREATE INDEX approvals_open ON approvals (number) WHERE state = 'open';
CREATE INDEX approvals_run ON approvals (run, number);

CREATE TABLE frames (
  id         TEXT PRIMARY KEY,
  run        TEXT NOT NULL REFERENCES runs (id),
  step       INTEGER NOT NULL,
  media_type TEXT NOT NULL,
  bytes      INTEGER NOT NULL,
  width      INTEGER NOT NULL,
  height     INTEGER NOT NULL,
  display    TEXT NOT NULL,
  geometry   TEXT NOT NULL,
  hash       TEXT NOT NULL,
  state      TEXT NOT NULL,
  at         INTEGER NOT NULL
) STRICT;
CREATE INDEX frames_run ON frames (run, step);
CREATE INDEX frames_age ON frames (at) WHERE state = 'active';

CREATE TABLE artefacts (
  id         TEXT PRIMARY KEY,
  run        TEXT NOT NULL REFERENCES runs (id),
  step       INTEGER NOT NULL,
  name       TEXT NOT NULL,
  media_type TEXT NOT NULL,
  bytes      INTEGER NOT NULL,
  hash       TEXT NOT NULL,
  state      TEXT NOT NULL,
  at         INTEGER NOT NULL
) STRICT;
CREATE INDEX artefacts_run ON artefacts (run, step);
CREATE INDEX artefacts_pending ON artefacts (id) WHERE state = 'pending';

CREATE TABLE changes (
  id          TEXT PRIMARY KEY,
  number      INTEGER NOT NULL UNIQUE,
  run         TEXT NOT NULL REFERENCES runs (id),
  step        INTEGER NOT NULL,
  path        BLOB NOT NULL,        -- the bytes of the path: not every path is text
  kind        TEXT NOT NULL,
  before_hash TEXT,                 -- null when the old content was not kept
  before_mode INTEGER,              -- Unix permission bits
  after       TEXT,                 -- hash of what the run left, `absent`, or null while unknown
  state       TEXT NOT NULL,
  at          INTEGER NOT NULL,
  undone_at   INTEGER
) STRICT;
CREATE INDEX changes_run ON changes (run, number);
CREATE INDEX changes_pending ON changes (id) WHERE state = 'pending';

CREATE TABLE model_calls (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  run          TEXT REFERENCES runs (id),
  step         INTEGER NOT NULL,
  role         TEXT NOT NULL,
  model        TEXT NOT NULL,
  input        INTEGER NOT NULL,
  output       INTEGER NOT NULL,
  cache_read   INTEGER NOT NULL,
  cache_write  INTEGER NOT NULL,
  images       INTEGER NOT NULL,
  microdollars INTEGER NOT NULL,
  milliseconds INTEGER NOT NULL,
  error        TEXT,
  at           INTEGER NOT NULL
) STRICT;
CREATE INDEX model_calls_run ON model_calls (run, id);

CREATE TABLE rules (
  id         TEXT PRIMARY KEY,
  number     INTEGER NOT NULL UNIQUE,
  kind       TEXT NOT NULL,
  pattern    TEXT NOT NULL,
  decision   TEXT NOT NULL,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
