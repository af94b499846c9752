/** The number names the form of the documents and settings: a new form is a new index, filled from the database. */
export const FACT_INDEX = "hlvm_facts_2";

/** A fact as the index holds it. */
export interface FactDocument {
  readonly id: string;
  readonly audience: string;
  readonly stems: string;
}
