import { growthPicture } from "./growth-picture.mjs";
import { speedPage } from "./speed-page.mjs";

/** What is published of a record, by path. */
export function speedPages(record) {
  return {
    "docs/proof/speed.md": speedPage(record),
    "docs/pictures/growth.svg": growthPicture(record.rows),
  };
}
