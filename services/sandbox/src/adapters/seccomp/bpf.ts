/** One instruction of classic BPF, as `struct sock_filter` has it. */
export interface Instruction {
  readonly code: number;
  /** How many instructions to skip where the comparison holds. */
  readonly jumpTrue: number;
  readonly jumpFalse: number;
  readonly operand: number;
}

const LOAD_WORD = 0x20;
const AND = 0x54;
const JUMP = 0x05;
const JUMP_EQUAL = 0x15;
const JUMP_GREATER_OR_EQUAL = 0x35;
const RETURN = 0x06;
const INSTRUCTION_BYTES = 8;
const MAXIMUM_JUMP = 255;

/** Loads four bytes of `struct seccomp_data`. */
export function load(offset: number): Instruction {
  return { code: LOAD_WORD, jumpTrue: 0, jumpFalse: 0, operand: offset };
}

export function and(mask: number): Instruction {
  return { code: AND, jumpTrue: 0, jumpFalse: 0, operand: mask };
}

export function giveBack(action: number): Instruction {
  return { code: RETURN, jumpTrue: 0, jumpFalse: 0, operand: action };
}

/** The block is run where the loaded word equals `value`, and skipped otherwise. */
export function whenEqual(value: number, block: readonly Instruction[]): Instruction[] {
  return [{ code: JUMP_EQUAL, jumpTrue: 0, jumpFalse: skip(block), operand: value }, ...block];
}

export function unlessEqual(value: number, block: readonly Instruction[]): Instruction[] {
  return [{ code: JUMP_EQUAL, jumpTrue: skip(block), jumpFalse: 0, operand: value }, ...block];
}

/** Unsigned comparison. */
export function whenAtLeast(value: number, block: readonly Instruction[]): Instruction[] {
  return [{ code: JUMP_GREATER_OR_EQUAL, jumpTrue: 0, jumpFalse: skip(block), operand: value }, ...block];
}

export interface Range {
  readonly from: number;
  /** Ends with giveBack on every way through it. */
  readonly block: readonly Instruction[];
}

/**
 * Runs the block of the last range that begins at or below the loaded word, found by halving: as many comparisons as the
 * number of ranges has binary digits. Ranges are in ascending order, and the first holds whatever is below the second.
 */
export function chooseRange(ranges: readonly Range[]): Instruction[] {
  if (ranges.length <= 1) return [...(ranges[0]?.block ?? [])];
  const middle = ranges.length >> 1;
  const below = chooseRange(ranges.slice(0, middle));
  return [...skipWhenAtLeast(ranges[middle]!.from, below), ...chooseRange(ranges.slice(middle))];
}

/** The program as the kernel takes it on a little-endian machine. */
export function assemble(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * INSTRUCTION_BYTES);
  for (const [index, { code, jumpTrue, jumpFalse, operand }] of program.entries()) {
    const at = index * INSTRUCTION_BYTES;
    bytes.writeUInt16LE(code, at);
    bytes.writeUInt8(jumpTrue, at + 2);
    bytes.writeUInt8(jumpFalse, at + 3);
    bytes.writeUInt32LE(operand, at + 4);
  }
  return bytes;
}

/** A block too long for the eight bits of a comparison's jump is skipped by an instruction of its own. */
function skipWhenAtLeast(value: number, block: readonly Instruction[]): Instruction[] {
  if (block.length <= MAXIMUM_JUMP)
    return [{ code: JUMP_GREATER_OR_EQUAL, jumpTrue: block.length, jumpFalse: 0, operand: value }, ...block];
  return [...whenAtLeast(value, [{ code: JUMP, jumpTrue: 0, jumpFalse: 0, operand: block.length }]), ...block];
}

function skip(block: readonly Instruction[]): number {
  if (block.length > MAXIMUM_JUMP) throw new RangeError(`a block of ${block.length} instructions cannot be jumped over`);
  return block.length;
}
