import { ActivityPage } from './activity/activity-page.tsx'
import { DeletedFormsPage } from './deleted-forms/deleted-forms-page.tsx'
import { EditPage } from './editor/edit-page.tsx'
import { Button } from './elements/button.tsx'
import { ErrorNotice } from './elements/error-notice.tsx'
import { focusHeading, Page } from './elements/page.tsx'
import { FormsPage } from './forms-list/forms-page.tsx'
import { Header } from './header.tsx'
import { KeysPage } from './keys/keys-page.tsx'
import { SecretDialog } from './keys/secret-dialog.tsx'
import { PreviewPage } from './preview/preview-page.tsx'
import { ComparePage } from './publish/compare-page.tsx'
import { PublishPage } from './publish/publish-page.tsx'
import { RevisionsPage } from './publish/revisions-page.tsx'
import { route } from './routing/navigation.ts'
import { hrefOf } from './routing/routes.ts'
import { entryError, forgetLink, isRetryable } from './session/entry.ts'
import { LoginLinkDialog } from './session/login-link-dialog.tsx'
import { RetryPage } from './session/retry-page.tsx'
import { isConnected, mayPurgeIn, mayWriteIn, offeredLink, type Session, session } from './session/session.ts'
import { SignInPage } from './session/sign-in-page.tsx'
import { texts } from './texts.ts'
import { UseItPage } from './use-it/use-it-page.tsx'

/** The console. @param enter opens a login link, or continues the session of the tab */
export const App = ({ enter }: { enter: () => Promise<void> }) => {
  const current = session.value
  const error = entryError.value
  return (
    <>
      <Button class="skip" onClick={focusHeading}>
        {texts.skip}
      </Button>
      {current && <Header key={current.userPath} session={current} />}
      {!isConnected.value && (
        <p class="banner" role="status">
          {texts.offline}
        </p>
      )}
      {current && error !== undefined && <EntryError error={error} />}
      {/* Without a key, the same page of another form, organization or API key keeps the state of this one. */}
      {current && <RoutedPage key={`${current.apiKey} ${hrefOf(route.value)}`} session={current} />}
      {!current && (isRetryable(error) ? <RetryPage retry={enter} /> : <SignInPage error={error} />)}
      {offeredLink.value && (
        <LoginLinkDialog key={offeredLink.value.code} link={offeredLink.value} current={current} />
      )}
      <SecretDialog />
    </>
  )
}

/** The error of a login link that was opened in a tab with a session. */
const EntryError = ({ error }: { error: unknown }) => (
  <div class="entry-error">
    <ErrorNotice error={error} />
    <Button
      class="quiet"
      onClick={() => {
        forgetLink()
        focusHeading()
      }}
    >
      {texts.close}
    </Button>
  </div>
)

const RoutedPage = ({ session }: { session: Session }) => {
  const current = route.value
  const { client } = session
  if (current.page === 'home') {
    const first = session.memberships[0]
    if (first === undefined) return <Message title={texts.product} text={texts.noOrganization} />
    location.replace(hrefOf({ page: 'forms', organization: first.organization.slug }))
    return null
  }
  if (current.page === 'keys') return <KeysPage session={session} />
  if (!('organization' in current)) return <Message title={texts.notFound} text={texts.notFoundText} />
  const { organization } = current
  const mayWrite = mayWriteIn(session, organization)
  if (!('form' in current)) {
    const props = { client, organization }
    if (current.page === 'activity') return <ActivityPage {...props} />
    if (current.page === 'deleted-forms')
      return <DeletedFormsPage {...props} mayWrite={mayWrite} mayPurge={mayPurgeIn(session, organization)} />
    return <FormsPage {...props} mayWrite={mayWrite} />
  }
  const props = { client, organization, form: current.form }
  switch (current.page) {
    case 'edit':
      return <EditPage {...props} mayWrite={mayWrite} />
    case 'preview':
      return <PreviewPage {...props} />
    case 'publish':
      return <PublishPage {...props} mayWrite={mayWrite} />
    case 'revisions':
      return <RevisionsPage {...props} mayWrite={mayWrite} />
    case 'compare':
      return <ComparePage {...props} from={current.from} to={current.to} />
    case 'form-activity':
      return <ActivityPage {...props} />
    case 'use-it':
      return <UseItPage session={session} organization={organization} form={current.form} />
  }
}

const Message = ({ title, text }: { title: string; text: string }) => (
  <Page title={title}>
    <p>{text}</p>
  </Page>
)
