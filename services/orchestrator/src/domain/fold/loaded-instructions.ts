import { create } from "@bufbuild/protobuf";
import { PartSchema, type Part } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { InstructionState, type Instruction, type InstructionOrigin, type InstructionsLoaded } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { ContextKind } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { Trust } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import type { Provenance } from "../context/provenance.ts";
import { instructionBlock } from "../prompt/instruction-block.ts";
import type { FoldedEvent } from "./conversation.ts";

/** A file with instructions that the model has before it. */
export interface LoadedInstruction {
  readonly path: string;
  readonly origin: InstructionOrigin;
  /** Of the text as it was read. */
  readonly sha256: string;
  /** Whose run loaded it; empty where that is not known. */
  readonly principal: string;
  /** As the model has it, in UTF-16 units. */
  readonly length: number;
  readonly parts: readonly Part[];
}

/** One that it has not, and why. */
export interface WithheldInstruction extends Pick<Instruction, "path" | "state" | "reason"> {
  readonly sequence: bigint;
  readonly workspace: string;
}

/** What an event changes in the conversation. */
export interface InstructionChange {
  /** What the model is given, one for each file. */
  readonly added: readonly { readonly part: Part; readonly about: Provenance }[];
  /** What it was given before and has no more. */
  readonly dropped: ReadonlySet<Part>;
}

/** The instructions of a conversation, folded from its events. */
export class LoadedInstructions {
  readonly #loaded = new Map<string, LoadedInstruction>();
  readonly #withheld = new Map<string, WithheldInstruction>();
  readonly #sequences: bigint[] = [];

  get loaded(): readonly LoadedInstruction[] {
    return [...this.#loaded.values()];
  }

  get withheld(): readonly WithheldInstruction[] {
    return [...this.#withheld.values()];
  }

  /** Of the events that a compaction has to leave: each of them gave the model something, or took it back. */
  get sequences(): readonly bigint[] {
    return this.#sequences;
  }

  find(path: string, origin: InstructionOrigin): LoadedInstruction | undefined {
    return this.#loaded.get(keyOf({ path, origin }));
  }

  take(event: Pick<FoldedEvent, "sequence" | "principal" | "at">, { files, workspace }: InstructionsLoaded): InstructionChange {
    const { sequence = 0n, principal = "" } = event;
    const added: { part: Part; about: Provenance }[] = [];
    const dropped = new Set<Part>();
    for (const file of files) {
      const { path, origin, state, sha256, text, reason } = file;
      const key = keyOf(file);
      const known = this.#loaded.get(key);
      if (state !== InstructionState.LOADED) {
        for (const part of known?.parts ?? []) dropped.add(part);
        this.#loaded.delete(key);
        if (state === InstructionState.REMOVED) this.#withheld.delete(key);
        else this.#withheld.set(key, { path, state, reason, sequence, workspace });
        continue;
      }
      this.#withheld.delete(key);
      if (known?.sha256 === sha256 && known.principal === principal) continue;
      const part = create(PartSchema, { part: { case: "text", value: instructionBlock(file, known !== undefined) } });
      const about = { source: `instructions ${path}`, trust: Trust.USER_CLAIMED, kind: ContextKind.INSTRUCTION };
      added.push({ part, about: { ...about, sequence, at: event.at } });
      // What stands there stays, so that the beginning of the requests stays the same; the later one says that it counts.
      const parts = [...(known?.parts ?? []), part];
      this.#loaded.set(key, { path, origin, sha256, principal, length: (known?.length ?? 0) + text.length, parts });
    }
    if (added.length > 0 || dropped.size > 0) this.#sequences.push(sequence);
    return { added, dropped };
  }
}

function keyOf({ path, origin }: Pick<Instruction, "path" | "origin">): string {
  return `${origin} ${path}`;
}
