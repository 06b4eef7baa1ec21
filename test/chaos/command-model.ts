import { setTimeout as delay } from "node:timers/promises";
import fc from "fast-check";
import type { FleetUnderTest } from "./fleet-under-test.ts";

/** The expected state: decides which commands may run next and what they must cause. */
export interface Model {
  fleet: "up" | "down" | "suspended";
  isFull: boolean;
  engine: "up" | "down" | "none";
  keys: string[];
}

export type Command = fc.AsyncCommand<Model, FleetUnderTest>;

/** `run` changes both the model and the fleet, and throws when they disagree. */
interface CommandStep {
  name: string;
  canRun(model: Readonly<Model>): boolean;
  run(model: Model, real: FleetUnderTest): Promise<unknown>;
}

const isUp = ({ fleet }: Readonly<Model>) => fleet === "up";
const agents = ["here", "contained"] as const;

/** All commands, in the order in which fast-check simplifies a failing run. */
export function commands(maxCommands: number, withEngine: boolean) {
  const plain = [trigger, duplicate, tick, clockJump, suspend, kill, start, cancel, reload, disk];
  const all = withEngine ? [...plain, engineRestart] : plain;
  const weighted = [trigger, trigger, start, start, ...all];
  return fc.commands(
    weighted.map((make) => make(withEngine)),
    { maxCommands, size: "max" },
  );
}

function trigger(withEngine: boolean): fc.Arbitrary<Command> {
  const agent = withEngine ? fc.constantFrom(...agents) : fc.constant("here" as const);
  return agent.map((name) =>
    command({
      name: `trigger ${name}`,
      canRun: isUp,
      run: async (model, real) => {
        const key = `key-${model.keys.length + 1}`;
        const isTaken = await real.trigger(key, name);
        if (!isTaken && !model.isFull) throw new Error("it was refused, though there is room");
        if (isTaken) model.keys.push(key);
      },
    }),
  );
}

function duplicate(): fc.Arbitrary<Command> {
  return fc.nat(99).map((index) =>
    command({
      name: `duplicate ${index}`,
      canRun: (model) => isUp(model) && model.keys.length > 0,
      run: async ({ keys }, real) => {
        await real.trigger(keys[index % keys.length] ?? "", "here");
      },
    }),
  );
}

function tick(): fc.Arbitrary<Command> {
  return fc
    .integer({ min: 50, max: 1_200 })
    .map((ms) => command({ name: `tick ${ms}`, canRun: () => true, run: () => delay(ms) }));
}

function clockJump(): fc.Arbitrary<Command> {
  return fc.integer({ min: -3_600_000, max: 3_600_000 }).map((by) =>
    command({
      name: `clock ${by}`,
      canRun: () => true,
      run: async (_, real) => real.clock.jump(by),
    }),
  );
}

function suspend(): fc.Arbitrary<Command> {
  return fc.constant(
    command({
      name: "suspend or continue",
      canRun: ({ fleet }) => fleet !== "down",
      run: async (model, real) => {
        real.suspend(isUp(model) ? "SIGSTOP" : "SIGCONT");
        model.fleet = isUp(model) ? "suspended" : "up";
      },
    }),
  );
}

function kill(): fc.Arbitrary<Command> {
  return fc.boolean().map((withRunners) =>
    command({
      name: withRunners ? "kill all" : "kill",
      canRun: isUp,
      run: async (model, real) => {
        await real.kill(withRunners);
        model.fleet = "down";
      },
    }),
  );
}

function start(): fc.Arbitrary<Command> {
  return fc.constant(
    command({
      name: "start",
      // A fleet that cannot write its lock exits with an error; another test covers that.
      canRun: ({ fleet, isFull }) => fleet === "down" && !isFull,
      run: async (model, real) => {
        await real.start();
        model.fleet = "up";
      },
    }),
  );
}

function cancel(): fc.Arbitrary<Command> {
  return fc.nat(99).map((index) =>
    command({
      name: `cancel ${index}`,
      canRun: (model) => isUp(model) && model.keys.length > 0 && !model.isFull,
      run: async ({ keys }, real) => {
        const id = real.accepted.get(keys[index % keys.length] ?? "") ?? "";
        await real.running.control.jobs.cancel(id);
      },
    }),
  );
}

function reload(): fc.Arbitrary<Command> {
  return fc.constant(
    command({ name: "reload", canRun: isUp, run: (_, real) => real.running.control.reload() }),
  );
}

function disk(): fc.Arbitrary<Command> {
  return fc.constant(
    command({
      name: "fill or free the disk",
      canRun: () => true,
      run: async (model, real) => {
        if (model.isFull) real.disk.free();
        else real.disk.fill();
        model.isFull = !model.isFull;
      },
    }),
  );
}

function engineRestart(): fc.Arbitrary<Command> {
  return fc.constant(
    command({
      name: "kill or start the engine",
      canRun: ({ engine }) => engine !== "none",
      run: async (model, real) => {
        if (model.engine === "up") await real.engine?.kill();
        else await real.engine?.start();
        model.engine = model.engine === "up" ? "down" : "up";
      },
    }),
  );
}

function command({ name, canRun, run }: CommandStep): Command {
  return {
    check: canRun,
    run: async (model, real) => void (await run(model, real)),
    toString: () => name,
  };
}
