// Random messages of any type of the contract, by its descriptor. Instants are whole milliseconds and
// numbers are finite, as JSON can carry them.

import { create, type DescField, type DescMessage, type Message, ScalarType } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { timestampFromMs } from "../../src/index.ts";

export function arbitraryMessage(desc: DescMessage): fc.Arbitrary<Message> {
  const fields = desc.fields.filter((field) => field.oneof === undefined);
  const parts = Object.fromEntries(fields.map((field) => [field.localName, arbitraryField(field)]));
  return fc.record(parts, { requiredKeys: [] }).map((values) => create(desc, values));
}

function arbitraryField(field: DescField): fc.Arbitrary<unknown> {
  const single = arbitrarySingle(field);
  if (field.fieldKind === "list") return fc.array(single, { maxLength: 3 });
  if (field.fieldKind === "map") {
    return fc.dictionary(
      fc.string({ unit: "binary", maxLength: 5 }).filter((k) => k !== "__proto__"),
      single,
      {
        maxKeys: 3,
        noNullPrototype: true,
      },
    );
  }
  return single;
}

function arbitrarySingle({ message, enum: desc, scalar }: DescField): fc.Arbitrary<unknown> {
  if (message?.typeName === TimestampSchema.typeName) {
    return fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 }).map(timestampFromMs);
  }
  if (message !== undefined) return arbitraryMessage(message);
  if (desc !== undefined) return fc.constantFrom(...desc.values.map((value) => value.number).filter((n) => n !== 0));
  switch (scalar) {
    case ScalarType.STRING:
      return fc.string({ unit: "binary", maxLength: 10 });
    case ScalarType.BOOL:
      return fc.boolean();
    case ScalarType.BYTES:
      return fc.uint8Array({ maxLength: 10 });
    case ScalarType.DOUBLE:
      return fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n + 0);
    case ScalarType.UINT32:
      return fc.nat({ max: 0xffff_ffff });
    case ScalarType.INT32:
      return fc.integer();
    default:
      throw new Error(`no values for scalar type ${scalar}`);
  }
}
