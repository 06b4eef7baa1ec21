/** The grid of the fleet list, shared by its header and rows; two columns on a phone. */
export const columnsClass =
  "grid grid-cols-2 items-center gap-x-4 lg:grid-cols-[minmax(12rem,1.5fr)_minmax(9rem,1.2fr)_minmax(11rem,1.8fr)_10rem_5rem_5rem] xl:grid-cols-[minmax(17rem,1.6fr)_minmax(12rem,1.3fr)_minmax(14rem,2fr)_11rem_8rem_5rem]";
