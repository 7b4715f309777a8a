// The life of one form: create, patch with ETag, publish, list all, delete. Prints what came of it as JSON.
package main

import (
	"context"
	"encoding/json"
	"log"
	"net/http"
	"os"

	"generated-go-client/forms"

	"github.com/google/uuid"
)

func main() {
	organization := os.Getenv("ORGANIZATION")
	client := newClient()
	ctx := context.Background()

	created := must(client.CreateFormWithResponse(ctx, organization, nil, forms.CreateFormRequest{Form: newForm()}))
	if created.JSON200 == nil {
		log.Fatal(created.Status(), string(created.Body))
	}
	ref := *created.JSON200.PublicId
	etag := created.HTTPResponse.Header.Get("etag")

	description := "Patched"
	patch := func() *forms.UpdateFormResponse {
		body := forms.UpdateFormRequest{Form: forms.FormPatch{Description: &description}}
		return must(client.UpdateFormWithResponse(ctx, organization, ref, &forms.UpdateFormParams{IfMatch: &etag}, body))
	}
	patched := patch()
	stale := patch()

	requestId := uuid.New()
	published := must(client.PublishFormWithResponse(ctx, organization, ref, nil, forms.PublishFormRequest{RequestId: &requestId}))
	names := listNames(ctx, client, organization)
	deleted := must(client.DeleteFormWithResponse(ctx, organization, ref, nil, forms.DeleteFormRequest{}))

	must(0, json.NewEncoder(os.Stdout).Encode(map[string]any{
		"buttonRadiusPx": created.JSON200.Theme.ButtonRadiusPx,
		"patched":        patched.JSON200.Description,
		"stale":          stale.StatusCode(),
		"live":           published.JSON200.Live,
		"names":          names,
		"deleted":        deleted.StatusCode(),
	}))
}

func newClient() *forms.ClientWithResponses {
	withKey := func(_ context.Context, request *http.Request) error {
		request.Header.Set("x-api-key", os.Getenv("API_KEY"))
		return nil
	}
	return must(forms.NewClientWithResponses(os.Getenv("BASE_URL"), forms.WithRequestEditorFn(withKey)))
}

func newForm() forms.FormInput {
	var start, question forms.StepInput
	title := "How was it?"
	must(0, start.FromStartStepInput(forms.StartStepInput{
		Type:  forms.StartStepInputTypeStart,
		Key:   "hello",
		Title: &title,
	}))
	must(0, question.FromOpenStepInput(forms.OpenStepInput{
		Type:                 "rating",
		Key:                  "stars",
		AdditionalProperties: map[string]any{"max": 5},
	}))
	name, radius := "Generated", 4.5
	return forms.FormInput{
		Name:  &name,
		Steps: &[]forms.StepInput{start, question},
		Theme: &forms.ThemeInput{ButtonRadiusPx: &radius},
	}
}

func listNames(ctx context.Context, client *forms.ClientWithResponses, organization string) []string {
	var names []string
	pageSize, orderBy, pageToken := int64(2), "createTime", ""
	for {
		params := &forms.ListFormsParams{PageSize: &pageSize, OrderBy: &orderBy, PageToken: &pageToken}
		page := must(client.ListFormsWithResponse(ctx, organization, params)).JSON200
		for _, form := range page.Forms {
			names = append(names, form.Name)
		}
		if page.NextPageToken == "" {
			return names
		}
		pageToken = page.NextPageToken
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}
