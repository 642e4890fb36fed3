export declare function compiledProto(folder?: string): Uint8Array;
export declare function sdkFiles(descriptors: Uint8Array): Readonly<Record<string, string>>;
