import type { BundledAnswer } from '@fms/contracts'

/** Without those that are too long to go with the ones before; errors are short. @param maxBytes of bodies, as UTF-8. */
export const fitting = (
  maxBytes: number,
  answers: (BundledAnswer<string> | undefined)[],
): (BundledAnswer<string> | undefined)[] => {
  let bytesLeft = maxBytes
  return answers.map((answer) => {
    if (answer?.status !== 200) return answer
    const bytes = Buffer.byteLength(answer.body)
    if (bytes > bytesLeft) return undefined
    bytesLeft -= bytes
    return answer
  })
}
