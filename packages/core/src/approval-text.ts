export { type InputField, inputFields, visible, visibleName } from "./state/approval-text.ts";
