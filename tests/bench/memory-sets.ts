import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { repositoryRoot } from "../e2e/test-mesh.ts";
import { dateOrNothing } from "./date-or-nothing.ts";

/** What one memory is filled with, and what it is asked. */
export interface MemorySet {
  readonly turns: readonly {
    readonly id: string;
    readonly session: string;
    readonly ordinal: number;
    readonly actor: string;
    readonly saidAt: Date | undefined;
    readonly text: string;
  }[];
  readonly questions: readonly {
    readonly text: string;
    readonly categories: readonly string[];
    /** Those that answer it; none where nothing in this memory does. */
    readonly turns: readonly string[];
    readonly sessions: readonly string[];
  }[];
}

/** LoCoMo is not free to copy: it is read where a developer keeps it, beside the repository. */
const LOCOMO = join(repositoryRoot, "..", "shared", "data", "locomo", "locomo10.json");
const LOCOMO_CATEGORIES = ["", "multi-hop", "temporal", "open", "single-hop", "adversarial"];
/** The weights were chosen on the first ones. */
const CHOSEN_ON = 5;

interface LocomoTurn {
  readonly speaker: string;
  readonly dia_id: string;
  readonly text: string;
  readonly blip_caption?: string;
}
interface LocomoConversation {
  readonly conversation: Readonly<Record<string, unknown>>;
  readonly qa: readonly { readonly question: string; readonly category: number; readonly evidence?: readonly string[] }[];
}
export function readLocomo(file = LOCOMO): MemorySet[] | undefined {
  if (!existsSync(file)) return undefined;
  return (JSON.parse(readFileSync(file, "utf8")) as LocomoConversation[]).map(({ conversation, qa }, number) => {
    const sessions = Object.keys(conversation).filter((key) => /^session_\d+$/.test(key));
    const half = number < CHOSEN_ON ? "1 to 4, half that was chosen on" : "1 to 4, other half";
    return {
      turns: sessions.flatMap((session) =>
        (conversation[session] as LocomoTurn[]).map(({ speaker, dia_id: id, text, blip_caption: picture = "" }, ordinal) => ({
          id,
          session,
          ordinal,
          actor: speaker,
          text: `${text} ${picture}`,
          saidAt: locomoDate(String(conversation[`${session}_date_time`])),
        })),
      ),
      questions: qa.flatMap(({ question: text, category, evidence = [] }) => {
        const turns = evidence.flatMap((ids) => ids.split(/[;, ]+/)).filter((id) => id !== "");
        if (turns.length === 0) return [];
        const categories = [LOCOMO_CATEGORIES[category]!, "all", ...(category < 5 ? ["1 to 4", half] : [])];
        return [{ text, categories, turns, sessions: [...new Set(turns.map((id) => `session_${id.slice(1).split(":")[0]!}`))] }];
      }),
    };
  });
}

/** "1:56 pm on 8 May, 2023". */
function locomoDate(text: string): Date | undefined {
  const day = / on (.+)$/.exec(text)?.[1];
  return day === undefined ? undefined : dateOrNothing(`${day} 12:00 UTC`);
}
