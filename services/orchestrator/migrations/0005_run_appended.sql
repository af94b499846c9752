-- How many events the run has appended: an append that is given twice is found by it, while others append to the same session.
ALTER TABLE run ADD COLUMN appended bigint NOT NULL DEFAULT 0;
-- Every append counts there; with room on the page no index is touched.
ALTER TABLE run SET (fillfactor = 70);
