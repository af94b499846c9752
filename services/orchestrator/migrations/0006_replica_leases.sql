-- A process that holds runs. Its lease is that of all the runs it holds, renewed once a second whatever their number.
CREATE TABLE replica (
  replica_id uuid PRIMARY KEY,
  lease_until timestamptz NOT NULL
);

-- Whose lease counts for the run. Without one, as with a release before this one, the run's own lease_until counts.
ALTER TABLE run ADD COLUMN held_by uuid;
-- What a run whose holder ended had come to when it was last claimed, and how often since then it was claimed again without
-- having come any further: a run that ends every process that takes it over is ended after some times.
ALTER TABLE run ADD COLUMN claimed_progress bigint NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN fruitless_claims integer NOT NULL DEFAULT 0;

-- Prolonging a lease changes no index and fits on its page.
ALTER TABLE replica SET (fillfactor = 50);
