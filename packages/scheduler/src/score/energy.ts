// f7, the cheapness of energy now, in [0, 1]: 1 - price, with a price between 0 and 1. 0 without a known price.

export const energy = (price: number | undefined): number =>
  price === undefined || Number.isNaN(price) ? 0 : Math.min(1, Math.max(0, 1 - price));
