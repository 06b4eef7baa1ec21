import { z } from "zod";
import { duration } from "./quantities.ts";
import { someText, url } from "./texts.ts";

const common = {
  when: someText.optional().describe("Condition on outcome, cost or metadata"),
  on: z.array(someText).min(1).optional().describe("Outcome codes it runs for"),
  timeout: duration.prefault("60s").describe("The hook is killed after this time"),
};

const shell = z.strictObject({
  type: z.literal("shell"),
  command: someText.describe("Shell command; the run's context is on its standard input"),
  ...common,
});

const posted = (type: "webhook" | "discord" | "slack") =>
  z.strictObject({
    type: z.literal(type),
    url: url("https", "http").describe("Address that is posted to"),
    ...common,
  });

const hook = z.discriminatedUnion("type", [
  shell,
  posted("webhook"),
  posted("discord"),
  posted("slack"),
]);

export const hooks = z.strictObject({
  after_run: z.array(hook).prefault([]).describe("After every run"),
  on_error: z.array(hook).prefault([]).describe("After a run that did not succeed"),
});
