import type { DescEnum } from "@bufbuild/protobuf";

/** The word for an enum's value outside protobuf: `STOP_REASON_MAX_TURNS_REACHED` is `max_turns_reached`. Of an unknown number, the number. */
export function enumWord(description: DescEnum, value: number): string {
  return description.value[value]?.localName.toLowerCase() ?? String(value);
}
