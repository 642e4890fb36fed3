// Serial numbers of certificates in one spelling, whoever writes them: hexadecimal digits without leading zeros.

export const serialDigits = (serial: string): string => serial.toLowerCase().replace(/^0+(?=.)/, "");
