-- What the fold of a long session begins with: its last compaction, and what was undone. A log has few of them among many.
CREATE INDEX event_landmarks ON event (session_id, type, seq) WHERE type IN ('compaction', 'conversation_undone');

-- Each replica looks every second for runs that it can claim: neither of the two has those that wait for a person, however many
-- they are. The id is that of nobody, who owns a run that waits.
CREATE INDEX run_claimable ON run (started_at) WHERE ended_at IS NULL
  AND (parked_until IS NULL OR lease_owner <> '00000000-0000-0000-0000-000000000000' OR cancel_requested_at IS NOT NULL);
CREATE INDEX run_parked ON run (parked_until) WHERE ended_at IS NULL AND parked_until IS NOT NULL;
