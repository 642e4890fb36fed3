// Certificate serial numbers in one spelling: hexadecimal digits without leading zeros.

export const serialDigits = (serial: string): string => serial.toLowerCase().replace(/^0+(?=.)/, "");
