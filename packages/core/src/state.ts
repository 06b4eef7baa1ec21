export { lockHolder } from "./state/lock.ts";
export { readOutput } from "./state/output-reader.ts";
export { isAlive } from "./state/process-identity.ts";
export { StateManager } from "./state/state-manager.ts";
