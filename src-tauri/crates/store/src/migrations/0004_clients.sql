-- Programs that connected to our MCP server, by what their entry and they themselves say. `mark` names
-- the host whose entry started the server and is empty where no entry says so.
CREATE TABLE clients (
  mark     TEXT NOT NULL,
  name     TEXT NOT NULL,
  version  TEXT NOT NULL,
  protocol TEXT NOT NULL,
  at       INTEGER NOT NULL,
  PRIMARY KEY (mark, name)
) STRICT;
