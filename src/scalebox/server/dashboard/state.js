// What is shown, and how; changed in place by whoever learns of it.

export const state = {
  range: 900, distribution: "work", stack: "share", overview: null, batch: null, sample: null, problem: null,
  hover: null, widths: {}, charts: {}, watch: 0,
};
