export { ranElsewhere, readLog } from "./fleet/nodes/read-log.ts";
export { artifactsDir, keptArtifacts } from "./state/artifacts.ts";
export { lockHolder } from "./state/lock.ts";
export { isNoteName, Memory, memoryDir } from "./state/memory.ts";
export { readOutput } from "./state/output-reader.ts";
export { isAlive } from "./state/process-identity.ts";
export { StateManager } from "./state/state-manager.ts";
export { verifyAudit } from "./state/verify-audit.ts";
