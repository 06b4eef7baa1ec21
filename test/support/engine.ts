import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect, onTestFinished } from "vitest";
import { deskSocket } from "./engine-desk.ts";
import { startEngineProgram } from "./engine-program.ts";

export interface TestEngine {
  /** For the environment of whatever is to use the engine. */
  dockerHost: string;
  /** The image of the agents, built by `herdctl docker build`. */
  image: string;
  /** A Debian with all that the image needs. */
  base: string;
  /** This machine, as containers with `network: bridge` see it. */
  hostAddress: string;
}

/**
 * The private Docker engine of this run. The first to ask waits until it is installed, started and
 * has its images, which takes minutes on a fresh machine: ask at the top of a test file, where no
 * time limit is set.
 */
export async function testEngine(): Promise<TestEngine> {
  const answer = JSON.parse(await text(connect(deskSocket(process.env.HERDCTL_TEST_RUN ?? ""))));
  if (answer.error !== undefined) throw new Error(answer.error);
  return answer;
}

export interface OwnEngine extends TestEngine {
  /** As a crash would: it answers nobody any more, and its containers go on. */
  kill(): Promise<void>;
  start(): Promise<void>;
}

/** An engine for one test alone, which may harm it; gone when the test is over. */
export async function ownEngine(): Promise<OwnEngine> {
  const engine = startEngineProgram();
  onTestFinished(async () => {
    expect(await engine.stop()).toEqual([]);
  });
  const where: TestEngine = JSON.parse(await engine.ready);
  return { ...where, kill: () => engine.order("kill"), start: () => engine.order("start") };
}
