import fc from 'fast-check'

/**
 * A unit of `fc.string`: any character, and no half of a surrogate pair. The unit 'binary' of
 * fast-check takes four seconds of processor time in each process.
 */
export const anyCharacter: fc.Arbitrary<string> = fc
  .oneof(
    fc.integer({ min: 0, max: 0x7f }),
    fc.integer({ min: 0, max: 0xd7ff }),
    fc.integer({ min: 0xe000, max: 0x10ffff }),
  )
  .map((codePoint) => String.fromCodePoint(codePoint))
