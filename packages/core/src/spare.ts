export { SparePool } from "./runner-process/spare.ts";
