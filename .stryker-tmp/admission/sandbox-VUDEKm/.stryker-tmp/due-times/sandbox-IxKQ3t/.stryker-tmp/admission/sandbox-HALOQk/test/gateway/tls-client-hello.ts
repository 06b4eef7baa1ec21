import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { connect as connectTls } from "node:tls";

/** The first message of a real TLS client. */
export async function captureClientHello(servername: string): Promise<Buffer> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const client = connectTls({ port, host: "127.0.0.1", servername });
  client.on("error", () => undefined);
  const [socket] = await once(server, "connection");
  const [bytes] = await once(socket, "data");
  client.destroy();
  socket.destroy();
  server.close();
  return bytes;
}

/** The same message in one record, with one more extension at its end. */
export function addExtension(hello: Buffer, type: number, data: Buffer): Buffer {
  const message = hello.subarray(5);
  let at = 4 + 2 + 32;
  at += 1 + message.readUInt8(at);
  at += 2 + message.readUInt16BE(at);
  at += 1 + message.readUInt8(at);
  const header = Buffer.alloc(4);
  header.writeUInt16BE(type, 0);
  header.writeUInt16BE(data.length, 2);
  const longer = Buffer.concat([message, header, data]);
  longer.writeUInt16BE(message.readUInt16BE(at) + 4 + data.length, at);
  longer.writeUIntBE(longer.length - 4, 1, 3);
  const record = Buffer.from([22, 3, 1, longer.length >> 8, longer.length & 255]);
  return Buffer.concat([record, longer]);
}
