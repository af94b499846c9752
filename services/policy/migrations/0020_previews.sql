-- What a call that was asked about would change in the file that it writes, as the sandbox saw it; it goes with the arguments.
ALTER TABLE approval ADD COLUMN preview jsonb;
