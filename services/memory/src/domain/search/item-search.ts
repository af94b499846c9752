import type { FoundItem } from "./found-item.ts";
import type { QuantizedVector } from "./quantized-vector.ts";
import type { Question } from "./question.ts";
import type { SearchKind } from "./search-item.ts";

/** Of a word that more texts hold not all are read: common words only weigh what rarer ones find. */
export const MAXIMUM_POSTINGS = 20_000;

export interface AskedForm {
  readonly form: string;
  readonly term: string;
  /** Texts that hold it. */
  readonly count: number;
}

/** What a question means, by a model's vector. */
export interface Meaning {
  readonly model: string;
  readonly vector: QuantizedVector;
}

/** What is asked, and how common its terms are among all that the viewer can see. */
export interface AskedCorpora {
  readonly question: Question;
  readonly ids: readonly number[];
  readonly items: number;
  readonly averageLength: number;
  /** Of a term with its other forms. */
  readonly frequencies: ReadonlyMap<string, number>;
  /** What is looked for in the texts: each term, and its other forms that are there. */
  readonly forms: readonly AskedForm[];
  /** Left out: words alone are compared. */
  readonly meaning?: Meaning;
}

/** Search by words, and by what they mean, within a viewer's scope. */
export interface ItemSearch {
  ask(kind: SearchKind, text: string): Promise<AskedCorpora>;
  /** Best first. @param candidates of these alone; of all, where it is left out */
  score(asked: AskedCorpora, limit: number, candidates?: readonly string[]): Promise<FoundItem[]>;
}
