import { resolve } from "node:path";
import { run } from "../run.mjs";
import { say } from "./say.mjs";

const herdctl = resolve(import.meta.dirname, "../../bin/herdctl");

/** By the command that users have for it. */
export async function buildAgentImage(dockerHost, base) {
  say("building the image of the agents …");
  const env = { ...process.env, DOCKER_HOST: dockerHost };
  return JSON.parse(await run(herdctl, ["docker", "build", "--base", base, "--json"], { env }));
}
