-- What waits is counted, and carried, by audience: who imports much makes nobody else wait.
ALTER TABLE outbox ADD COLUMN audience text;
UPDATE outbox SET audience = fact.audience FROM fact WHERE fact.fact_id = outbox.fact_id;
ALTER TABLE outbox ALTER COLUMN audience SET NOT NULL;
CREATE INDEX outbox_audience ON outbox (audience, outbox_id);
CREATE FUNCTION set_outbox_audience() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  SELECT audience INTO NEW.audience FROM fact WHERE fact_id = NEW.fact_id;
  RETURN NEW;
END $$;
CREATE TRIGGER audience BEFORE INSERT ON outbox FOR EACH ROW EXECUTE FUNCTION set_outbox_audience();
