import { connect, type Socket } from "node:net";
import { onTestFinished } from "vitest";

interface RawConnection {
  socket: Socket;
  /** Everything received until the other side closed. */
  closed: Promise<string>;
}

/** Sends raw bytes as an attacker would. */
export function connectRaw(port: number): RawConnection {
  const socket = connect(port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  let received = "";
  socket.setEncoding("utf8").on("data", (text) => {
    received += text;
  });
  socket.on("error", () => undefined);
  const closed = new Promise<string>((done) => socket.once("close", () => done(received)));
  return { socket, closed };
}
