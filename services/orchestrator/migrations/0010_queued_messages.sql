-- Messages that people sent to the run while it went on; what it has read of them is in its log.
ALTER TABLE run ADD COLUMN queued integer NOT NULL DEFAULT 0;
-- The run has read them all and is about to end: it takes no further ones.
ALTER TABLE run ADD COLUMN is_closing boolean NOT NULL DEFAULT false;
