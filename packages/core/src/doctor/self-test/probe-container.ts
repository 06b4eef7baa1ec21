import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer, type Server } from "node:net";
import { networkInterfaces } from "node:os";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { buffer, text } from "node:stream/consumers";
import { UserError } from "@herdctl/protocol";
import { extract } from "tar-stream";
import type {
  ExecuteOptions,
  RuntimeInterface,
  SDKMessage,
} from "../../runner/runtimes/runtime-interface.ts";
import {
  findSecrets,
  type ProbeReport,
  parseProbeReport,
  type Secret,
  type SecretMatch,
} from "./evaluate-evidence.ts";

/** Runs a program in the agent's container until it exits. */
type RunInContainer = (program: RuntimeInterface) => Promise<void>;

/** Collects facts about the container, and tries network connections from it. */
export async function probeContainer(
  run: RunInContainer,
  { token, isSealed, listeners }: { token: string; isSealed: boolean; listeners: ProbeListeners },
): Promise<ProbeReport> {
  const { port, addresses } = listeners;
  const args = [token, isSealed ? "closed" : "open", String(port), ...addresses];
  let output = "";
  await run(
    new ScriptRuntime(readScript("probe.sh"), args, async (stdout) => {
      output = await text(stdout);
    }),
  );
  return parseProbeReport(output);
}

/** Searches all files that the container's user can read. The search runs outside, so no secret enters it. */
export async function searchFiles(
  run: RunInContainer,
  secrets: readonly Secret[],
): Promise<{ secretMatches: SecretMatch[]; fileCount: number }> {
  const secretMatches: SecretMatch[] = [];
  let fileCount = 0;
  const read = async (stdout: Readable) => {
    const archive = extract();
    stdout.pipe(archive);
    for await (const entry of archive) {
      fileCount += 1;
      secretMatches.push(...findSecrets(`/${entry.header.name}`, await buffer(entry), secrets));
    }
  };
  await run(new ScriptRuntime(readScript("pack-files.sh"), [], read));
  return { secretMatches, fileCount };
}

function readScript(name: string): string {
  const manifest = createRequire(import.meta.url).resolve("@herdctl/core/package.json");
  return readFileSync(join(dirname(manifest), "self-test", name), "utf8");
}

/** Runs a script in place of `claude`, started in the same way, so that it sees what an agent sees. */
class ScriptRuntime implements RuntimeInterface {
  constructor(
    private readonly readScript: string,
    private readonly args: readonly string[],
    private readonly read: (stdout: Readable) => Promise<void>,
  ) {}

  async *execute({ spawn, cwd, env, signal }: ExecuteOptions): AsyncGenerator<SDKMessage> {
    if (spawn === undefined) throw new Error("the self-test needs a container");
    const program = spawn({
      file: "sh",
      args: ["-c", this.readScript, "sh", ...this.args],
      cwd,
      env,
    });
    const stop = () => program.kill("SIGKILL");
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    program.stdin.end();
    const [errorOutput, , exit] = await Promise.all([
      text(program.stderr),
      this.read(program.stdout),
      program.exited,
    ]).finally(() => signal.removeEventListener("abort", stop));
    if (exit.code === 125 || exit.code === 127) {
      throw new UserError(
        "container_refused",
        `The self-test could not be started: ${errorOutput.trim()}`,
      );
    }
    yield* [];
  }
}

interface ProbeListeners {
  port: number;
  /** All addresses of this machine that other machines can reach. */
  addresses: string[];
  /** Protocols and addresses at which the token arrived. */
  arrivals(): string[];
  close(): Promise<void>;
}

const dualStack = { address: "::", type: "udp6" } as const;
const ipv4Only = { address: "0.0.0.0", type: "udp4" } as const;
/** The TCP port may be in use by UDP, and IPv6 may be disabled. */
const familyAttempts = [dualStack, dualStack, dualStack, ipv4Only, ipv4Only, ipv4Only];

/** Listens with TCP and UDP on every address, to detect connections from the container. */
export async function listenForToken(token: string): Promise<ProbeListeners> {
  let lastError: unknown;
  for (const family of familyAttempts) {
    try {
      return await listenOnce(token, family);
    } catch (error) {
      lastError = error;
    }
  }
  throw lastError;
}

async function listenOnce(
  token: string,
  family: (typeof familyAttempts)[number],
): Promise<ProbeListeners> {
  const arrivals = new Set<string>();
  const tcp = tcpServer(token, (address) => arrivals.add(`TCP ${address}`));
  const udp = createSocket(family.type, (message, from) => {
    if (message.includes(token)) arrivals.add(`UDP from ${from.address}`);
  });
  try {
    await once(tcp.listen(0, family.address), "listening");
    const boundAddress = tcp.address();
    const port = boundAddress !== null && typeof boundAddress === "object" ? boundAddress.port : 0;
    await once(udp.bind(port, family.address), "listening");
    const close = () => closeAll(tcp, udp);
    return { port, addresses: ownAddresses(), arrivals: () => [...arrivals], close };
  } catch (error) {
    await closeAll(tcp, udp);
    throw error;
  }
}

function tcpServer(token: string, onToken: (address: string) => void): Server {
  return createServer((socket) => {
    let received = "";
    socket.setTimeout(5_000, () => socket.destroy());
    socket.on("error", () => undefined);
    socket.setEncoding("latin1").on("data", (text: string) => {
      received += text;
      if (received.includes(token)) onToken(socket.localAddress?.replace("::ffff:", "") ?? "");
      if (received.length > 4_096) socket.destroy();
    });
  });
}

function ownAddresses(): string[] {
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, address }) => !internal && !address.startsWith("fe80:"))
    .map(({ address }) => address);
}

async function closeAll(tcp: Server, udp: Socket): Promise<void> {
  await new Promise<void>((done) => tcp.close(() => done()));
  await new Promise<void>((done) => udp.close(() => done()));
}
