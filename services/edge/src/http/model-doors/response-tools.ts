import type { ToolDefinition } from "@hlvm/proto/hlvm/model/v1/model_pb";
import type { Fields } from "./fields.ts";
import { tool } from "./options.ts";

/** A function as its client knows it. */
export interface NamedTool {
  readonly name: string;
  /** Of the group that it stands in. */
  readonly namespace?: string;
}

/**
 * The functions of a request. Those that stand in a namespace are offered to the model one by one, each with its namespace before
 * its name, and told to the client again as it knows them.
 */
export class ResponseTools {
  readonly definitions: ToolDefinition[] = [];
  readonly #known = new Map<string, NamedTool>();

  /** @throws FieldError */
  constructor(given: readonly Fields[]) {
    for (const fields of given) {
      if (fields.word("type", ["function", "namespace"]) !== "namespace") this.#add(fields);
      else {
        const namespace = fields.text("name");
        const about = fields.optionalText("description");
        for (const inside of fields.objects("tools")) this.#add(inside, namespace, about);
        fields.end();
      }
    }
  }

  /** A name that the model said, as the client knows it. */
  named(name: string): NamedTool {
    return this.#known.get(name) ?? { name };
  }

  #add(fields: Fields, namespace?: string, about = ""): void {
    if (fields.word("type", ["function"]) === undefined) throw fields.error("type", "is missing");
    const definition = tool(fields, "parameters");
    fields.end();
    const { name, description } = definition;
    if (namespace !== undefined) {
      definition.name = nameWithin(namespace, name);
      definition.description = [about, description].filter((text) => text !== "").join("\n");
      this.#known.set(definition.name, { name, namespace });
    }
    this.definitions.push(definition);
  }
}

/** As the model is told it. */
export function nameWithin(namespace: string | undefined, name: string): string {
  return namespace === undefined ? name : `${namespace}__${name}`;
}
