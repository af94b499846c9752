-- What providers' caches gave of what the session's call before had sent, and why they did not; and whom a call is charged to.
ALTER TABLE model_call ADD COLUMN teams text[] NOT NULL DEFAULT '{}';
-- Of what stands before the conversation and of the tools, SYSTEM:TOOLS; null where nothing is told of a call's prefix.
ALTER TABLE model_call ADD COLUMN prefix_hash text;
ALTER TABLE model_call ADD COLUMN reusable_tokens bigint;
-- hlvm.session.v1.CacheBreakCause
ALTER TABLE model_call ADD COLUMN break_cause smallint;
-- Nano-dollars; null where nobody knows the price.
ALTER TABLE model_call ADD COLUMN break_cost bigint;

CREATE INDEX model_call_by_session ON model_call (session_id, call_id DESC);
CREATE INDEX model_call_break ON model_call (organization, call_id DESC) WHERE break_cause IS NOT NULL;

-- Settles calls of a run: what was reserved is given back, what was used counts, and the calls are on record.
CREATE OR REPLACE FUNCTION settle_calls(holder uuid, teams text[], calls jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  mine bigint[];
  spent bigint[];
BEGIN
  IF jsonb_array_length(calls) = 0 THEN
    RETURN;
  END IF;
  INSERT INTO model_call (organization, principal, session_id, run_id, teams, turn, model, input_tokens, output_tokens, cache_read_tokens,
    cache_write_tokens, reasoning_tokens, cost, input_cost, is_estimated, tool_tokens, prefix_hash, reusable_tokens, break_cause, break_cost)
  SELECT organization, principal, session_id, run_id, coalesce(settle_calls.teams, '{}'), call.*
  FROM run JOIN session USING (session_id), jsonb_to_recordset(calls) AS call (turn integer, model text, input bigint, output bigint,
    "cacheRead" bigint, "cacheWrite" bigint, reasoning bigint, cost bigint, "inputCost" bigint, "isEstimated" boolean, "toolTokens" jsonb,
    "prefixHash" text, "reusableTokens" bigint, "breakCause" smallint, "breakCost" bigint)
  WHERE run.run_id = holder;
  -- Every answer of every run comes by here, and mostly nothing is limited.
  IF NOT EXISTS (SELECT FROM budget) THEN
    RETURN;
  END IF;
  mine := lock_run_budgets(holder, settle_calls.teams);
  IF mine IS NULL THEN
    RETURN;
  END IF;
  PERFORM drop_reservations(ARRAY[holder]);
  SELECT ARRAY[sum(tokens), coalesce(sum(cost), 0), count(*), sum(milliseconds)] INTO spent
  FROM jsonb_to_recordset(calls) AS call (tokens bigint, cost bigint, milliseconds bigint);
  UPDATE budget SET used = used + spent[kind] WHERE budget_id = ANY (mine);
END
$$;

-- Settles a call, once: what was reserved is given back, what it used counts and is on record. Without `used` nothing came of it.
-- False where it is settled already.
CREATE OR REPLACE FUNCTION settle_door_call(id uuid, used_up jsonb) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  one door_call;
  mine bigint[];
  spent bigint[];
BEGIN
  DELETE FROM door_call WHERE call_id = id RETURNING * INTO one;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  IF used_up IS NOT NULL THEN
    INSERT INTO model_call (organization, principal, teams, token_id, door, turn, model, input_tokens, output_tokens, cache_read_tokens,
      cache_write_tokens, reasoning_tokens, cost, input_cost, is_estimated)
    SELECT one.organization, one.principal, one.teams, nullif(one.token_id, ''), one.door, 1, one.model, call.*
    FROM jsonb_to_record(used_up) AS call (input bigint, output bigint, "cacheRead" bigint, "cacheWrite" bigint, reasoning bigint,
      cost bigint, "inputCost" bigint, "isEstimated" boolean);
  END IF;
  mine := lock_door_budgets(one);
  IF mine IS NULL THEN
    RETURN true;
  END IF;
  PERFORM drop_reservations(ARRAY[id]);
  IF used_up IS NOT NULL THEN
    spent := ARRAY[(used_up ->> 'tokens')::bigint, coalesce((used_up ->> 'cost')::bigint, 0), 1, (used_up ->> 'milliseconds')::bigint];
    UPDATE budget SET used = used + spent[kind] WHERE budget_id = ANY (mine);
  END IF;
  RETURN true;
END
$$;
