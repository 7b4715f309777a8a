import { maskMembersOf } from '@fms/aip'
import { Form, Revision } from '@fms/contracts'

/** The members of a form and of a revision, which a read mask can name. */
export const formMembers = maskMembersOf(Form)
export const revisionMembers = maskMembersOf(Revision)
