import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect, onTestFinished } from "vitest";
import { startEngineProgram } from "./docker-engine-process.ts";
import { sharedEngineSocket } from "./shared-docker-engine.ts";

export interface TestEngine {
  /** The value of DOCKER_HOST for clients of the engine. */
  dockerHost: string;
  /** The image of the agents, built by `herdctl docker build`. */
  image: string;
  /** A Debian image with everything that the agents' image needs. */
  base: string;
  /** The address of this machine in containers with `network: bridge`. */
  hostAddress: string;
}

/**
 * The private Docker engine of this run. The first call waits until it is installed, started and
 * has its images, which takes minutes on a fresh machine: await it at the top of a test file, where
 * no time limit applies.
 */
export async function sharedEngine(): Promise<TestEngine> {
  const answer = JSON.parse(
    await text(connect(sharedEngineSocket(process.env.HERDCTL_TEST_RUN ?? ""))),
  );
  if (answer.error !== undefined) throw new Error(answer.error);
  return answer;
}

export interface PrivateEngine extends TestEngine {
  /** Simulates a crash: the engine stops answering while its containers continue. */
  kill(): Promise<void>;
  start(): Promise<void>;
}

/** A separate engine for a test that damages it, removed at the end of the test. */
export async function startPrivateEngine(): Promise<PrivateEngine> {
  const engine = startEngineProgram();
  onTestFinished(async () => {
    expect(await engine.stop()).toEqual([]);
  });
  const connection: TestEngine = JSON.parse(await engine.ready);
  return {
    ...connection,
    kill: () => engine.sendCommand("kill"),
    start: () => engine.sendCommand("start"),
  };
}
