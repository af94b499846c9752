import { createSocket } from "node:dgram";
import { once } from "node:events";

const HEADER_BYTES = 12;
const TYPE_A = 1;

export interface NameServer {
  readonly port: number;
  /** What every name has from now on. */
  addresses: readonly string[];
  readonly close: () => Promise<void>;
}

/** A DNS server for one test: an A record for each address, whatever is asked for, and none of another type. */
export async function startNameServer(addresses: readonly string[]): Promise<NameServer> {
  const socket = createSocket("udp4");
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  const server: NameServer = {
    port: socket.address().port,
    addresses,
    close: async () => {
      const closed = once(socket, "close");
      socket.close();
      await closed;
    },
  };
  socket.on("message", (query, { port, address }) => {
    const question = questionOf(query);
    const records = question.readUInt16BE(question.length - 4) === TYPE_A ? server.addresses : [];
    socket.send(Buffer.concat([headOf(query, records.length), question, ...records.map(recordOf)]), port, address);
  });
  return server;
}

/** A name, label by label up to an empty one, then its type and class. */
function questionOf(query: Buffer): Buffer {
  let end = HEADER_BYTES;
  while (query[end] !== 0) end += query[end]! + 1;
  return query.subarray(HEADER_BYTES, end + 5);
}

function headOf(query: Buffer, answers: number): Buffer {
  const head = Buffer.alloc(HEADER_BYTES);
  query.copy(head, 0, 0, 2);
  // A response, with authority, to one question.
  head.writeUInt16BE(0x8580, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(answers, 6);
  return head;
}

/** The name is that of the question, class IN, and it is kept for no time. */
function recordOf(address: string): Buffer {
  const fields = Buffer.from([0xc0, HEADER_BYTES, 0, TYPE_A, 0, 1, 0, 0, 0, 0, 0, 4]);
  return Buffer.concat([fields, Buffer.from(address.split(".").map(Number))]);
}
