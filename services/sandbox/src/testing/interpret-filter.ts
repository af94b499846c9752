export const ALLOWED = "allowed";
export const KILLED = "killed";

export interface Interpretation {
  /** Else the errno that the call gives. */
  readonly verdict: typeof ALLOWED | typeof KILLED | number;
  readonly instructions: number;
}

/** What the kernel would do with a call: a classic BPF machine with the few instructions that the filter uses. */
export function interpretFilter(program: Buffer, architecture: number, number: number, given: readonly number[]): Interpretation {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number, 0);
  data.writeUInt32LE(architecture, 4);
  given.forEach((value, index) => data.writeBigUInt64LE(BigInt(value), 16 + 8 * index));
  let accumulator = 0;
  let instructions = 0;
  for (let at = 0; at < program.length; at += 8) {
    instructions++;
    const [code, ifTrue, ifFalse, operand] = [program.readUInt16LE(at), program[at + 2]!, program[at + 3]!, program.readUInt32LE(at + 4)];
    if (code === 0x20) accumulator = data.readUInt32LE(operand);
    else if (code === 0x54) accumulator = (accumulator & operand) >>> 0;
    else if (code === 0x05) at += 8 * operand;
    else if (code === 0x15) at += 8 * (accumulator === operand ? ifTrue : ifFalse);
    else if (code === 0x35) at += 8 * (accumulator >= operand ? ifTrue : ifFalse);
    else if (code === 0x06) return { verdict: verdictOf(operand), instructions };
    else throw new Error(`unknown instruction ${code}`);
  }
  throw new Error("the program ran off its end");
}

function verdictOf(action: number): Interpretation["verdict"] {
  if (action === 0x7fff0000) return ALLOWED;
  if (action === 0x80000000) return KILLED;
  if (action >>> 16 === 5) return action & 0xffff;
  throw new Error(`unknown action ${action}`);
}
