/** Of so many facts at most a history tells. */
const MOST_FACTS = 100;

/** The fact $1 with all that it replaced or was replaced by. */
export const THREAD_OF_FACT = `WITH RECURSIVE thread AS (
    SELECT $1::uuid AS fact_id
    UNION
    SELECT other.fact_id FROM thread JOIN fact_change_part AS part USING (fact_id)
      JOIN fact_change_part AS other ON other.change_id = part.change_id
  )
  SELECT fact_id FROM thread LIMIT ${MOST_FACTS}`;
