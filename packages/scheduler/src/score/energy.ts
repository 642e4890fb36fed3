// f7, cheapness of energy now, in [0, 1]: 1 - price, the price between 0 and 1. Nothing where no price is
// known: an unknown price favours nobody.

export const energy = (price: number | undefined): number =>
  price === undefined || Number.isNaN(price) ? 0 : Math.min(1, Math.max(0, 1 - price));
