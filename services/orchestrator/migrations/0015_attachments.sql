-- Images and documents that went with messages, once for each session. Events name them by their hashes.
CREATE TABLE attachment (
  session_id uuid NOT NULL REFERENCES session ON DELETE CASCADE,
  -- Of the data, hex.
  sha256 text NOT NULL,
  media_type text NOT NULL,
  data bytea NOT NULL,
  PRIMARY KEY (session_id, sha256)
);
