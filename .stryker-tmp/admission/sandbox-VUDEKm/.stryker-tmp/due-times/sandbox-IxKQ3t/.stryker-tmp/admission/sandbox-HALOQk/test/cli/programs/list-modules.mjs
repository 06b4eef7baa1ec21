// Loaded before a program by `node --import`: records the URL of every module it loads.
import { register } from "node:module";

const hooks = `
  import { appendFileSync } from "node:fs";
  export function load(url, context, next) {
    appendFileSync(process.env.MODULE_LIST, url + "\\n");
    return next(url, context);
  }`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
