-- What the edge signed for the run: whoever holds the run calls with it. Gone when the run has ended.
ALTER TABLE run ADD COLUMN delegation text;
