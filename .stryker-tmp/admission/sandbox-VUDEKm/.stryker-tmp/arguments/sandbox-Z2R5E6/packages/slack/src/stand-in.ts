export { SlackStandIn, type SlackStandInOptions } from "./stand-in/slack-stand-in.ts";
