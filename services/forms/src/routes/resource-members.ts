import { maskMembersOf } from '@fms/aip'
import { Form, Revision } from '@fms/contracts'

export const formMembers = maskMembersOf(Form)
export const revisionMembers = maskMembersOf(Revision)
