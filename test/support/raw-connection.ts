import { connect, type Socket } from "node:net";
import { onTestFinished } from "vitest";

interface RawConnection {
  socket: Socket;
  /** All that came until the other side closed. */
  closed: Promise<string>;
}

/** For bytes as an attacker would write them. */
export function raw(port: number): RawConnection {
  const socket = connect(port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  let said = "";
  socket.setEncoding("utf8").on("data", (text) => {
    said += text;
  });
  socket.on("error", () => undefined);
  const closed = new Promise<string>((done) => socket.once("close", () => done(said)));
  return { socket, closed };
}
